SELECT blocks.i, agents.id AS a, message AS m, link AS l, pixels AS px
FROM blocks JOIN agents ON agents.id = blocks.agent ORDER BY blocks.i;

SELECT id, wallet, agents.name, agents.framework, count(*) AS blocks
FROM agents JOIN blocks ON blocks.agent = agents.id GROUP BY id;
