"""Documents that carry maps, and one labelled defect of one."""
