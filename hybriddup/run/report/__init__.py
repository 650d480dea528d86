"""The results of a run for people: a page of HTML, and what notebooks show."""
