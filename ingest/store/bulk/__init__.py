"""Actions on all sources or jobs of a filter, done by a job of the type `bulk`."""
