"""Bundles: experiments as one tar file, written by `det experiment export` and read by `det master import bundle`.

`layout` names the files and what they hold, `columns` and `tables` are for those with many rows, `writer` and `reader`
are the archive itself. Both halves use this package; it knows no HTTP and no SQL.
"""
