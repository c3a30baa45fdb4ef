"""The wheels as their users install them."""
