"""Programs that upload a file with clients of the tus protocol, to be killed and started again."""
