"""Lists of sources and jobs by a filter, and actions on all that a filter selects."""
