"""What any server of Noren shares: whom it lets in, what a request may send, the charts' script, the house's look."""
