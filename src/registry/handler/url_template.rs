//! URLs with parameters in their path, such as `https://api.example.com/users/{id}`.

/// A URL whose parameters are all in its path, so that no value can lead to another server.
#[derive(Clone, Debug, PartialEq)]
pub struct UrlTemplate<'a> {
    pieces: Vec<UrlPiece<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum UrlPiece<'a> {
    Text(&'a str),
    Parameter(&'a str),
}

impl<'a> UrlTemplate<'a> {
    /// Parses a URL, or returns the reason why it is none with parameters in its path. The text continues a sentence that
    /// begins with the URL's place.
    pub fn parse(url: &'a str) -> Result<Self, &'static str> {
        if url.contains('#') {
            return Err("must have no fragment: the arguments follow the URL");
        }
        let mut pieces = Vec::new();
        let mut rest = url;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { return Err(UNPAIRED) };
            if name.is_empty() || name.contains('{') || before.contains('}') {
                return Err(UNPAIRED);
            }
            pieces.extend([UrlPiece::Text(before), UrlPiece::Parameter(name)]);
            rest = after;
        }
        if rest.contains('}') {
            return Err(UNPAIRED);
        }
        pieces.push(UrlPiece::Text(rest));
        let template = Self { pieces };
        if template.is_in_path_only() { Ok(template) } else { Err(ELSEWHERE) }
    }

    /// The first text must reach into the path, and no text before a parameter may end the path.
    fn is_in_path_only(&self) -> bool {
        let mut before = String::new();
        for piece in &self.pieces {
            match piece {
                UrlPiece::Text(text) => before.push_str(text),
                UrlPiece::Parameter(_) => {
                    let reaches_path = before.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '\\']));
                    if !reaches_path || before.contains('?') {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// The names of the parameters, in the order of the URL.
    pub fn parameters(&self) -> impl Iterator<Item = &'a str> {
        self.pieces.iter().filter_map(|it| match it {
            UrlPiece::Text(_) => None,
            UrlPiece::Parameter(name) => Some(*name),
        })
    }

    /// The URL with a value, which `value` has encoded for a path, for each parameter.
    pub fn filled(&self, value: impl Fn(&str) -> String) -> String {
        let pieces = self.pieces.iter().map(|it| match it {
            UrlPiece::Text(text) => (*text).to_owned(),
            UrlPiece::Parameter(name) => value(name),
        });
        pieces.collect()
    }
}

const UNPAIRED: &str = "must have a parameter's name between each { and } (a brace that is meant is %7B or %7D)";
const ELSEWHERE: &str = "must have its {parameters} in its path; a parameter of the query is listed in `query`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_in_the_path() {
        let template = UrlTemplate::parse("https://a.example/r/{owner}/{base}...{head}?v=1").unwrap();
        assert_eq!(template.parameters().collect::<Vec<_>>(), ["owner", "base", "head"]);
        assert_eq!(template.filled(|it| it.to_uppercase()), "https://a.example/r/OWNER/BASE...HEAD?v=1");
        assert_eq!(UrlTemplate::parse("https://a.example").unwrap().parameters().count(), 0);
    }

    #[test]
    fn other_braces_are_refused() {
        for url in ["https://a.example/{", "https://a.example/}", "https://a.example/{}", "https://a.example/{a{b}}"] {
            assert_eq!(UrlTemplate::parse(url), Err(UNPAIRED), "{url}");
        }
        for url in ["{url}", "https://{host}/x", "https://a.example{x}", "https://a.example/?q={q}", "{a}://b/c"] {
            assert_eq!(UrlTemplate::parse(url), Err(ELSEWHERE), "{url}");
        }
        assert!(UrlTemplate::parse("https://a.example/#x").is_err());
    }
}
