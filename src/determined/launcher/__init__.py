"""Earlier name of `determined.launch`; scripts written for it still run."""
