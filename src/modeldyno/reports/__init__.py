"""Reports: a document made of what the analysis says, and one renderer for each format."""
