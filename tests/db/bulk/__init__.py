"""Bulk actions: each row once, under kills, races and concurrent requests."""
