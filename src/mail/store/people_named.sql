-- The addresses of the people whom the text ?1 stands for in the inbox ?2, as figures: 1 if the text is the address, else 0.
-- The figure 2 without a name follows if more addresses have the words ?3 than were looked at.
SELECT a.address AS name, a.address = ?1 AS count
FROM (
{people}
) n CROSS JOIN addresses a ON a.id = n.id
UNION ALL
SELECT '', 2 WHERE (SELECT count(*) FROM (SELECT 1 FROM address_words WHERE address_words MATCH ?3 LIMIT 101)) > 100
