"""Other people's code that takes maps, as targets of campaigns, and the strict oracle that judges it."""
