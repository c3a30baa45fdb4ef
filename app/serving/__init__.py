"""Models put to use: kept in memory, given documents, asked why."""
