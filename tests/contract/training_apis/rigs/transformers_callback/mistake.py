"""A training that a searcher waits for, without any evaluation."""

import train

train.main(eval_strategy="no")
