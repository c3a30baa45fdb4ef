"""What answers hold and how it is shown, the same for both clients; they add what asks the service."""
