"""One file per kind of chart: rows in, a chart of the document out."""
