"""A fit that a searcher waits for, without any validation."""

import train

train.main()
