"""The papers that go with a release: documents the law asks for, and the data card beside a public part."""
