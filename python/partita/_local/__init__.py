"""What is done to the memory of this rank alone, by native code: no team, no layout."""
