"""Request and response bodies, one noun a file; requests refuse unknown fields, responses read rows."""
