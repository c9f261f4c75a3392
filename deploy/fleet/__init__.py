"""Many stacks: which there are, which host names lead to each, and commands for all of them. It knows no money."""
