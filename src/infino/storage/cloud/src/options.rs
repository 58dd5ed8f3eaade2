//! The options of a store: which there are, and where they come from.

use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

/// Options that all stores have besides their own; without prefix.
const CLIENT_KEYS: &[&str] = &[
    "allow_http",
    "allow_invalid_certificates",
    "connect_timeout",
    "http1_only",
    "http2_only",
    "pool_idle_timeout",
    "pool_max_idle_per_host",
    "proxy_ca_certificate",
    "proxy_excludes",
    "proxy_url",
    "timeout",
    "user_agent",
];

pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// How many edits make one text the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn nearest<'a>(key: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (edits, name) = known.map(|name| (distance(key, name), name)).min()?;
    (edits <= key.len() / 3 + 1).then_some(name)
}

/// A length of time: "10s", "500ms", or a number of seconds.
pub fn parse_duration(key: &str, value: &str) -> Result<Duration, String> {
    let parsed = match value.trim().parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string()),
        Err(_) => humantime::parse_duration(value.trim()).map_err(|error| error.to_string()),
    };
    match parsed {
        Ok(length) if length > Duration::ZERO && length <= Duration::from_secs(86_400) => {
            Ok(length)
        }
        Ok(_) => Err(format!(
            "storage option {key} must be above 0 and at most a day; got {value:?}"
        )),
        Err(why) => Err(format!(
            "storage option {key}: {why}; got {value:?}, wanted like 10s"
        )),
    }
}

pub fn parse_bool(key: &str, value: &str) -> Result<bool, String> {
    match value.trim().to_lowercase().as_str() {
        "1" | "true" | "on" | "yes" | "y" => Ok(true),
        "0" | "false" | "off" | "no" | "n" => Ok(false),
        _ => Err(format!(
            "storage option {key} must be true or false; got {value:?}"
        )),
    }
}

/// What a kind of store calls its options.
pub struct Naming {
    /// As in "s3".
    pub scheme: &'static str,
    /// As in "aws_".
    pub prefix: &'static str,
    /// What variables of the environment start with.
    pub variable_prefix: &'static str,
    /// For "did you mean"; with prefix.
    pub known: &'static [&'static str],
}

/// Options by their key, of which each may have several names.
#[derive(Debug)]
pub struct Options<K> {
    pub values: Vec<(K, String)>,
    /// Those of `values` that callers gave, before those of the environment.
    pub given_count: usize,
}

impl<K: FromStr + PartialEq> Options<K> {
    /// Reads what callers gave; upper and lower case are one.
    pub fn parse(given: &[(String, String)], naming: &Naming) -> Result<Self, String> {
        let mut values: Vec<(K, String)> = Vec::new();
        for (name, value) in given {
            let key = name
                .to_lowercase()
                .parse::<K>()
                .map_err(|_| unknown(name, naming))?;
            match values.iter().find(|(other, _)| *other == key) {
                Some((_, other)) if other != value => {
                    return Err(format!(
                        "storage option {name} is given twice, with different values"
                    ));
                }
                Some(_) => {}
                None => values.push((key, value.clone())),
            }
        }
        let given_count = values.len();
        Ok(Options {
            values,
            given_count,
        })
    }

    /// Adds what the environment has and callers did not give. `is_wanted` may refuse keys.
    pub fn add_environment(
        &mut self,
        environment: &HashMap<String, String>,
        naming: &Naming,
        is_wanted: impl Fn(&K) -> bool,
    ) {
        let mut names: Vec<_> = environment.keys().collect();
        names.sort();
        for name in names {
            if !name.starts_with(naming.variable_prefix) {
                continue;
            }
            if let Ok(key) = name.to_lowercase().parse::<K>() {
                if is_wanted(&key) && self.get(&key).is_none() {
                    self.values.push((key, environment[name].clone()));
                }
            }
        }
    }

    pub fn get(&self, key: &K) -> Option<&str> {
        self.values
            .iter()
            .find(|(other, _)| other == key)
            .map(|(_, value)| value.as_str())
    }

    pub fn is_given(&self, is_such: impl Fn(&K) -> bool) -> bool {
        self.values[..self.given_count]
            .iter()
            .any(|(key, _)| is_such(key))
    }

    pub fn has(&self, is_such: impl Fn(&K) -> bool) -> bool {
        self.values.iter().any(|(key, _)| is_such(key))
    }
}

fn unknown(name: &str, naming: &Naming) -> String {
    let lower = name.to_lowercase();
    let bare = lower.strip_prefix(naming.prefix).unwrap_or(&lower);
    let known = naming
        .known
        .iter()
        .map(|key| key.strip_prefix(naming.prefix).unwrap_or(key));
    let hint = match nearest(bare, known.chain(CLIENT_KEYS.iter().copied())) {
        Some(near) => format!("; did you mean {}{near}?", naming.prefix),
        None => String::new(),
    };
    format!(
        "unknown storage option '{name}' for {}://{hint}",
        naming.scheme
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_the_one_with_the_fewest_edits() {
        assert_eq!(distance("regoin", "region"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(
            nearest("regoin", ["role_arn", "region", "endpoint"].into_iter()),
            Some("region")
        );
        assert_eq!(
            nearest("zzzzzz", ["role_arn", "region", "endpoint"].into_iter()),
            None
        );
    }

    #[test]
    fn lengths_of_time_have_units_or_are_seconds() {
        assert_eq!(parse_duration("timeout", "2"), Ok(Duration::from_secs(2)));
        assert_eq!(
            parse_duration("timeout", "500ms"),
            Ok(Duration::from_millis(500))
        );
        assert!(parse_duration("timeout", "0").is_err());
        assert!(parse_duration("timeout", "-1").is_err());
        assert!(parse_duration("timeout", "soon").is_err());
    }
}
