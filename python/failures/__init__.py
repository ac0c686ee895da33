"""What is left of a run that failed inside: the step, the reason, and what runs it again."""
