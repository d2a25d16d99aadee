//! Writes the CustomResourceDefinitions into a folder: `crdgen crds/yaml`.

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).map(PathBuf::from).ok_or("usage: crdgen FOLDER")?;
    for definition in crds::definitions() {
        let path = folder.join(definition.file_name);
        let yaml = serde_saphyr::to_string(&definition.definition)?;
        fs::write(&path, yaml).map_err(|error| format!("failed to write {}: {error}", path.display()))?;
    }
    Ok(())
}
