package drivetest

// about answers about.get, whose fields have no default.
func (c *call) about() (answer, error) {
	m, err := c.mask()
	if err != nil {
		return answer{}, err
	}
	exports := Object{}
	for mime, of := range map[string]content{MimeDoc: &document{}, MimeSheet: workbook{}, MimeSlides: deck{}} {
		var list []any
		for _, format := range of.formats() {
			list = append(list, format)
		}
		exports[mime] = list
	}
	return m.object(Object{
		"kind": "drive#about", "user": c.s.person(c.email, c.email), "appInstalled": false, "canCreateDrives": true,
		"maxUploadSize": "5242880000000", "exportFormats": exports,
		"storageQuota": Object{"limit": "16106127360", "usage": "0", "usageInDrive": "0", "usageInDriveTrash": "0"},
	}), nil
}
