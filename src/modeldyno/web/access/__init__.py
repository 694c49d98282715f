"""Who may do what on the server: users, tokens, sessions, throttling and the audit log."""
