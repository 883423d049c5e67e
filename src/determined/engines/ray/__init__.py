"""Resource pools over a Ray cluster.

In the master: engine, bridge_supervisor, jobs, runner_table, resources, node_backoff. In the cluster: bridge,
cluster_view, actor, tracked_actor, master_link.
"""
