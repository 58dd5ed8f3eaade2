//! The files that Amazon's tools share: ~/.aws/credentials and ~/.aws/config.

use std::collections::HashMap;
use std::path::PathBuf;

/// The settings of one profile, by their names in the files.
#[derive(Debug, Default)]
pub struct Profile {
    settings: HashMap<String, String>,
}

impl Profile {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// Adds what `text`, in the format of such files, has under `[section]`.
    fn add(&mut self, text: &str, section: &str) -> bool {
        let mut is_inside = false;
        let mut is_found = false;
        for line in text.lines() {
            // Indented lines are nested settings, which have no meaning here.
            if line.starts_with([' ', '\t', '#', ';']) {
                continue;
            }
            let line = line.trim();
            if let Some(header) = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
            {
                is_inside = header.split_whitespace().eq(section.split_whitespace());
                is_found |= is_inside;
            } else if let (true, Some((name, value))) = (is_inside, line.split_once('=')) {
                let value = value.trim().to_string();
                self.settings
                    .entry(name.trim().to_lowercase())
                    .or_insert(value);
            }
        }
        is_found
    }
}

fn file(environment: &HashMap<String, String>, variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(path) = environment.get(variable) {
        return Some(PathBuf::from(path));
    }
    environment
        .get("HOME")
        .map(|home| PathBuf::from(home).join(".aws").join(name))
}

/// Reads the profile `asked`, else that of AWS_PROFILE, else the default one. An error if one was
/// named and neither file has it.
pub fn read(environment: &HashMap<String, String>, asked: Option<&str>) -> Result<Profile, String> {
    let named = asked
        .map(str::to_string)
        .or_else(|| environment.get("AWS_PROFILE").cloned());
    let name = named.clone().unwrap_or_else(|| "default".to_string());
    let mut profile = Profile::default();
    let mut is_found = false;
    if let Some(path) = file(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials") {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        is_found |= profile.add(&text, &name);
    }
    if let Some(path) = file(environment, "AWS_CONFIG_FILE", "config") {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let section = if name == "default" {
            name.clone()
        } else {
            format!("profile {name}")
        };
        is_found |= profile.add(&text, &section);
    }
    if named.is_some() && !is_found {
        return Err(format!("the shared configuration has no profile '{name}'"));
    }
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_its_own_section_of_both_files() {
        let mut profile = Profile::default();
        assert!(profile.add(
            "# c\n[default]\nregion=a\n[ x ]\nKey = v = w \n  nested = n\n[y]\nkey=z",
            "x"
        ));
        assert_eq!(profile.get("key"), Some("v = w"));
        assert_eq!(profile.get("region"), None);
        assert_eq!(profile.get("nested"), None);
        assert!(profile.add("[profile  x]\nregion = b\nkey = later", "profile x"));
        assert_eq!(profile.get("region"), Some("b"));
        assert_eq!(profile.get("key"), Some("v = w"));
        assert!(!profile.add("[profile x]", "x"));
    }
}
