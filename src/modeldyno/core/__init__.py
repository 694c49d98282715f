"""The words of modeldyno as frozen types: needs the standard library and pydantic, nothing else."""
