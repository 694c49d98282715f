"""Every result kept: a durable spool in front of one DuckDB file. The only place with SQL."""
