"""What happens on a pull request and every night: the gate, its report, the comment, the issues, the workflow file."""
