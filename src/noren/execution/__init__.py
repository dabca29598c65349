"""The same work on a Spark cluster: plans that read and write partitioned files, and give what one machine gives.

A plan says the same as the method, attack or measure it belongs to, in counts by key and kernels on blocks. Rows never
come to the driver. What does, and how much that may be, each plan says (:class:`~noren.execution.plans.ClusterPlan`).
"""
