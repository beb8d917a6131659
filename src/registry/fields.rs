//! The one list of a version's fields. The types for rows, requests, responses and backups are generated from this
//! list, so that adding a field means adding one entry.

/// Calls the macro `$make` with every field of a version except its number and its handler.
///
/// The fields are in two groups.
/// - `own`: each of the types `ToolIn`, `ToolOut` and `VersionRecord` declares these itself, because their form or their
///   order differs. An entry is `name: (type in Tool);`.
/// - `shared`: every type has these in the same form and order. New fields go here. An entry has three parts: the type in
///   `Tool`; `given`, with the attributes and the type in `ToolIn` and a function from there to the type in `Tool`; and
///   `shown`, the attributes in `ToolOut`.
macro_rules! version_fields {
    ($make:ident) => {
        $make! {
            own {
                name: (String);
                description: (String);
                parameters_schema: (String);
                returns_schema: (Option<String>);
                category: (String);
                registered_at: (Timestamp);
                registered_by: (String);
                active: (bool);
                deactivated_at: (Option<Timestamp>);
                deactivated_reason: (Option<DeactivationReason>);
            }
            shared {
                examples: (Vec<Example>),
                    given [#[schema(max_items = 20)]] (Option<Vec<Example>>) Option::unwrap_or_default,
                    shown [];
                risk_level: (Risk),
                    given [#[schema(default = "low")]] (Option<Risk>) |it| it.unwrap_or(Risk::Low),
                    shown [];
                required_permission: (Level),
                    given [#[schema(default = "guest")]] (Option<Level>) |it| it.unwrap_or(Level::Guest),
                    shown [
                        /// The level that a caller needs to run the tool.
                    ];
                required_capabilities: (Vec<String>),
                    given [#[schema(max_items = 50)]] (Option<Vec<String>>) without_repeats,
                    shown [];
                requires_approval: (bool),
                    given [#[schema(default = false)]] (Option<bool>) |it| it.unwrap_or(false),
                    shown [
                        /// What the version was registered with; see `needs_approval`.
                    ];
                rate_limit: (Option<u32>),
                    given [
                        /// Calls a minute.
                        #[schema(minimum = 1, maximum = 10000)]
                    ] (Option<u32>) |it| it,
                    shown [
                        /// Calls a minute.
                    ];
                timeout_seconds: (u32),
                    given [#[schema(minimum = 1, maximum = 3600, default = 30)]] (Option<u32>) |it| it.unwrap_or(30),
                    shown [];
                execution_mode: (ExecutionMode),
                    given [#[schema(default = "local")]] (Option<ExecutionMode>) |it| it.unwrap_or(ExecutionMode::Local),
                    shown [];
                resource_class: (ResourceClass),
                    given [#[schema(default = "control")]] (Option<ResourceClass>) |it| it.unwrap_or(ResourceClass::Control),
                    shown [];
                rollback_strategy: (RollbackStrategy),
                    given [#[schema(default = "none")]] (Option<RollbackStrategy>) |it| it.unwrap_or(RollbackStrategy::None),
                    shown [];
                credentials_required: (Vec<String>),
                    given [
                        /// Credentials of the workspace. Those that the handler's headers name as `${NAME}` are added by themselves.
                        #[schema(max_items = 50)]
                    ] (Option<Vec<String>>) without_repeats,
                    shown [];
                side_effects: (Vec<SideEffect>),
                    given [#[schema(max_items = 50)]] (Option<Vec<SideEffect>>) Option::unwrap_or_default,
                    shown [];
            }
        }
    };
}

pub(crate) use version_fields;
