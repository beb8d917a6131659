"""One pydantic model for the parameters of a function. It gives the JSON Schema, and it checks the arguments of calls."""

import json
import typing

import toolset_docstring
from toolset_paths import told
from toolset_signature import ABSENT, ANY_POSITIONS, MISSING, POSITIONAL_ONLY, BindingError, Signature
from toolset_types import UNIONS, json_schema, metadata, model, plain_text, reason, schema_of
from toolset_values import to_json_value

import pydantic
from pydantic.fields import FieldInfo

MAX_DEFAULT_CHARACTERS = 10_000
MAX_FAULTS = 20
REST = "**"  # Where the model has the arguments for `**rest`. No parameter can have this name.


def function_to_json_schema(function):
    """The JSON Schema of the object that has a function's arguments. `workspace` is none of them."""
    signature = Signature(function)
    check_named(signature)
    return Model(signature, signature.without_workspace()).schema()


def check_named(signature):
    """Arguments have names and no order, so every parameter must have a name that a call can use."""
    for parameter in signature.parameters:
        if parameter.kind is ANY_POSITIONS:
            raise BindingError(f"*{parameter.name}: a tool's arguments have names, so a tool cannot take *{parameter.name}")
        if parameter.kind is POSITIONAL_ONLY:
            raise BindingError(f"{parameter.name}: a tool's arguments have names, so no parameter can be positional-only")


class Model:
    """The fields have names of our own, because pydantic does not allow every name. Aliases are the parameters' names."""

    def __init__(self, signature, parameters):
        self.notes = []  # What the author should know.
        self.parameters = {f"p{number}": each for number, each in enumerate(parameters)}
        self.rest = signature.rest
        self.descriptions = toolset_docstring.read(signature.docstring)[1]
        self.fields = {name: self._field(each, signature.hint(each)) for name, each in self.parameters.items()}
        if self.rest is not None:
            hint = signature.hint(self.rest)
            self.fields["rest"] = dict[str, _or_any(hint)], pydantic.Field(default_factory=dict, alias=REST)
        self.made = self._model()

    @staticmethod
    def of_all(signature, parameter):
        """The model of the one argument that a function gets if its only parameter is a dictionary of all arguments."""
        hint = signature.hint(parameter)
        try:
            return model({"value": (hint, pydantic.Field(alias=REST))}, [])
        except MemoryError:
            raise
        except Exception as error:
            raise BindingError(f"{parameter.name}: its type cannot be had from JSON: {reason(error)}") from None

    def _field(self, parameter, hint):
        try:
            return self._typed(parameter, hint)
        except MemoryError:
            raise
        except Exception as error:  # A hint may be any object, and no type.
            raise BindingError(f"{parameter.name}: its type cannot be had from JSON: {reason(error)}") from None

    def _typed(self, parameter, hint):
        options = {"alias": parameter.name}
        description = _description(hint, parameter.default) or self.descriptions.get(parameter.name)
        if description:
            options["description"] = description
        hint, default = _or_any(hint), parameter.default
        nothing = default is None or _is_field(default) and default.default is None
        if nothing and not _takes_none(hint):
            hint = typing.Optional[hint]  # Many write `text: str = None`, and then pass None.
        if _is_field(default):
            hint = typing.Annotated[hint, default]
        elif has_own_default(parameter):
            options["default"] = None  # The real default is the function's own.
        return hint, pydantic.Field(**options)

    def _told(self, name):
        return f"**{self.rest.name}" if name == "rest" else self.parameters[name].name

    def _model(self):
        try:
            return model(self.fields, self.notes)
        except MemoryError:
            raise
        except Exception as error:  # A type of the author may raise anything.
            raise BindingError(self._faults() or told(error)) from None

    def _faults(self):
        """Pydantic does not say which field it cannot make, so each one is tried alone."""
        faults = []
        for name, field in self.fields.items():
            try:
                model({name: field}, [])
            except MemoryError:
                raise
            except Exception as error:
                faults.append(f"{self._told(name)}: its type cannot be had from JSON: {reason(error)}")
            if len(faults) == MAX_FAULTS:
                break
        return "\n".join(faults)

    def schema(self):
        try:
            schema = json_schema(self.made, "validation", self.notes)
        except MemoryError:
            raise
        except Exception as error:
            raise BindingError(self._schema_faults() or told(error)) from None
        properties = schema["properties"]
        if self.rest is not None:
            schema["additionalProperties"] = properties.pop(REST).get("additionalProperties", True)
        self._write_defaults(properties)
        return schema

    def _schema_faults(self):
        faults = []
        for name, (hint, _) in self.fields.items():
            try:
                schema_of(hint, "validation", self._told(name))
            except BindingError as error:
                faults.append(str(error))
            if len(faults) == MAX_FAULTS:
                break
        return "\n".join(faults)

    def _write_defaults(self, properties):
        """A schema has the defaults that are short JSON values, and that the parameter would take as arguments."""
        written = {}
        for name, parameter in self.parameters.items():
            properties[parameter.name].pop("default", None)
            default = self._default(name, parameter)
            if default is MISSING:
                continue
            try:
                written[parameter.name] = _short(to_json_value(default))
            except MemoryError:
                raise
            except Exception:
                self.notes.append(f"{parameter.name}: its default is no short JSON value, so the schema does not have it")
        refused = self._refused(written)
        for name, default in written.items():
            if name in refused:
                self.notes.append(f"{name}: its default does not fit its type hint, so the schema does not have it")
            else:
                properties[name]["default"] = default

    def _default(self, name, parameter):
        if parameter.default is ABSENT:
            return MISSING
        if has_own_default(parameter):
            return parameter.default
        field = self.made.model_fields[name]
        return MISSING if field.is_required() or field.default_factory is not None else field.default

    def _refused(self, written):
        """The names of the defaults that the model refuses. It misses other arguments too, which tells nothing."""
        try:
            self.made.model_validate_json(json.dumps(written))
        except pydantic.ValidationError as error:
            return {each["loc"][0] for each in error.errors(include_url=False, include_input=False) if each["loc"]}
        except MemoryError:
            raise
        except Exception:  # A validator of the author failed.
            return set(written)
        return set()


def has_own_default(parameter):
    """Whether Python itself gives the parameter a value, if the call does not. A `Field` is only for the model."""
    return parameter.default is not MISSING and not _is_field(parameter.default)


def _is_field(value):
    return issubclass(type(value), FieldInfo)  # A default may be an object that lies about its class.


def _or_any(hint):
    return typing.Any if hint is MISSING else hint


def _takes_none(hint):
    if typing.get_origin(hint) is typing.Annotated:
        return _takes_none(typing.get_args(hint)[0])
    return typing.get_origin(hint) in UNIONS and type(None) in typing.get_args(hint)


def _description(hint, default):
    """The description in a `Field`, else the plain text in a hint."""
    fields = (each.description for each in (default, *metadata(hint)) if _is_field(each))
    return next(filter(None, fields), None) or plain_text(hint)


def _short(value):
    if len(json.dumps(value, allow_nan=False)) > MAX_DEFAULT_CHARACTERS:
        raise ValueError("too long")
    return value
