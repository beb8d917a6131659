-- The addresses of the people whom the text ?1 stands for in the inbox ?2, as figures: 1 if the text is the address, else 0.
SELECT a.address AS name, a.address = ?1 AS count
FROM (
{people}
) n CROSS JOIN addresses a ON a.id = n.id
