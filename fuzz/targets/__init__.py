"""Coverage-guided fuzz targets: bytes become a document, a pickle, a map or a certificate, and are judged."""
