"""The RFM table by hand."""

import numpy as np

from noren.data.frames import History
from noren.data.schema import Schema
from noren.measures.utility.purchases import purchases
from noren.measures.utility.rfm import rfm_table


def test_last_day_invoices_and_money() -> None:
    # customer 1: last on the 9th, 3 invoices, 3.00; customer 2: last on the 5th, 1 invoice of two rows, 10.00
    rows = {
        "customer": ["1", "1", "1", "2", "2"],
        "date": ["2010/12/1", "2010/12/9", "2010/12/4", "2010/12/5", "2010/12/5"],
        "item": ["a", "b", "a", "a", "b"],
        "price": [1.0, 1.0, 1.0, 2.0, 2.0],
        "quantity": [1, 1, 1, 4, 1],
    }
    table = rfm_table(purchases(History.of(rows, Schema.preset("pwscup2018"))), 2)
    assert np.argwhere(table).tolist() == [[0, 0, 1], [1, 1, 0]]
    assert table.sum() == 2
