-- What the playground tells the model of an agent. NULL: the workspace's or the deployment's value, or none.
ALTER TABLE agents ADD COLUMN system_prompt TEXT CHECK (octet_length(system_prompt) BETWEEN 1 AND 32768);
ALTER TABLE agents ADD COLUMN model TEXT CHECK (octet_length(model) BETWEEN 1 AND 800);
-- How often a turn asks the model at most.
ALTER TABLE agents ADD COLUMN max_steps INTEGER CHECK (max_steps BETWEEN 1 AND 64);
ALTER TABLE agents ADD COLUMN temperature REAL CHECK (temperature BETWEEN 0 AND 2);
