"""What everything stands on: it imports nothing of the package but itself."""
