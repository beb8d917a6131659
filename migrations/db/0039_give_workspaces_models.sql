-- The model that the playground of a workspace asks, if the workspace has its own. NULL: the deployment's (MODEL_URL, …).
ALTER TABLE workspace_settings ADD COLUMN model_url TEXT;
ALTER TABLE workspace_settings ADD COLUMN model_name TEXT;
-- Sealed for the workspace and the origin of model_url (src/seal.rs).
ALTER TABLE workspace_settings ADD COLUMN model_key TEXT CHECK (model_key IS NULL OR model_url IS NOT NULL);
ALTER TABLE workspace_settings ADD COLUMN model_streaming TEXT
  CHECK (model_streaming IN ('always', 'without_tools', 'never'));
ALTER TABLE workspace_settings ADD COLUMN context_tokens INTEGER CHECK (context_tokens BETWEEN 1000 AND 1000000);
