"""Resource pools over a Ray cluster. The master's side: engine, keeper, jobs, book, offer. The cluster's: bridge, held,
sightings, actor, link."""
