"""What must hold, with its code and its theorem. Pure statements; deciding them is the engines' work."""
