"""Lists of sources and jobs by filters, a page at a time, and counts that are bounded."""
