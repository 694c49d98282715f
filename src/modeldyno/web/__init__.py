"""The server: REST API and dashboard over one store."""
