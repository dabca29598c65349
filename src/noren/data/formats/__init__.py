"""How data lie in files: text, Parquet, Excel and the contests' own formats, read strictly and written whole."""
