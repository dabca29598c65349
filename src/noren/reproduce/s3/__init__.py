"""S3: the risk of repeated releases."""
