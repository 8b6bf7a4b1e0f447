"""What can be known of a spec before anything runs."""
