"""File formats: text, Parquet and Excel, read strictly and written whole."""
