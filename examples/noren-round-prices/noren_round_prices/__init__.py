"""Replace each price by the price band it lies in."""

from dataclasses import replace
from typing import ClassVar

import polars as pl
from pydantic import Field

from noren.data.release import Release, Statement
from noren.data.schema import Role
from noren.kernels.random_draws import pseudonyms
from noren.progress import Progress, silent
from noren.protocols import Method, Strength, in_form


class RoundPrices(Method):
    """Customers get pseudonyms and each price becomes the band [i·step, (i+1)·step − grid] that holds it.

    With a step of 1 the price 2.55 becomes [2; 2.99]; the first band starts at one grid width.
    """

    name = "round-prices"
    summary = "Shows prices as bands; replaces customers by pseudonyms."
    strength = Strength("step", "1, 5, 20")
    generalises = True
    translations: ClassVar = {"ja": {"Width of a price band": "価格帯の幅"}}

    step: float = Field(
        default=1.0,
        gt=0,
        title="Width of a price band",
        description="The width of a price band.",
        json_schema_extra=in_form(main=True),
    )

    def protect(self, original, *, seed: int, progress: Progress = silent) -> Release:
        """Pseudonymise, and widen every price to its band."""
        customer, price = original.schema.role(Role.CUSTOMER), original.schema.role(Role.PRICE)
        customers = original.customers
        names = pl.Series(pseudonyms(len(customers), seed), dtype=pl.String)
        low = (pl.col(price.name) / self.step).floor() * self.step
        band = pl.struct(
            lo=pl.max_horizontal(low.round(6), pl.lit(price.grid)), hi=(low + self.step - price.grid).round(6)
        )
        frame = original.frame.with_columns(
            pl.col(customer.name).replace_strict(customers, names, return_dtype=pl.String), band.alias(price.name)
        )
        statement = Statement(self.name, self.parameters(), promise="hides exact prices, not people")
        return Release.of_aligned(original, replace(original, frame=frame), statement, seed=seed)
