"""Many runs side by side: plans, costs, results, the study that is made of them."""
