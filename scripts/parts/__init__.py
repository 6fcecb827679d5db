"""What the commands in scripts/ share, and test_outcomes.py, which ends test.sh."""
