"""What was released period by period, and what the next release would add to the risk (S3)."""

from noren.ledger.book import Ledger, period_seed
from noren.ledger.certificate import Certificate
from noren.ledger.entries import LedgerEntry
from noren.ledger.proposal import BudgetError, Proposal, UnknownRiskError
from noren.ledger.risk import Risk

__all__ = ["BudgetError", "Certificate", "Ledger", "LedgerEntry", "Proposal", "Risk", "UnknownRiskError", "period_seed"]
