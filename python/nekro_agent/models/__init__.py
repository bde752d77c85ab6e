"""The rows that plugins query. The tables are the host's; here are their Nekro names."""
