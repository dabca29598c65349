"""The first hour: from a file of orders to a verdict, and to the folder that can be shared.

python examples/first_hour.py orders.csv client_id to-partner
"""

import sys

import pandas as pd

import noren

orders, customer, out = sys.argv[1:]

df = pd.read_csv(orders)
data = noren.read(df, customer=customer)  # all other roles are guessed; print(data.schema.to_toml()) shows them
release = noren.protect(data, k=5)  # the method is chosen by the kind of the data
print(release)
print(release.verdict("partner"))
print(release.attack("all"))
print(release.measure())
print(release.compare())
print(release.explain())
print(release.publish(out))
